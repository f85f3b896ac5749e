UOP_KERNEL void softmax_rows(void *const *places, const int64_t *scalars, int64_t task, void *scratch) {
  const float *restrict p0 = (const float *)places[0];
  float *restrict p1 = (float *)places[1];
  (void)scalars; (void)scratch;
  const int64_t r0 = task;
  float a0;
  float a1;
  _Alignas(64) float a2[6];
  a0 = (-__builtin_inff());
  for (int64_t r1 = 0; r1 < 6; r1++) {  // reduce
    const float v0 = a0;
    const float v1 = p0[r0 * 6 + r1];
    const float v2 = uop_max_f32(v0, v1);
    a0 = v2;
  }
  const float v3 = a0;
  const float v4 = -v3;
  a1 = 0.0f;
  for (int64_t r2 = 0; r2 < 6; r2++) {  // reduce
    const float v5 = a1;
    const float v6 = p0[r0 * 6 + r2];
    const float v7 = v6 + v4;
    const float v8 = v7 * 0x1.715476p+0f;
    const float v9 = uop_exp2_f32(v8);
    a2[r2] = v9;
    const float v10 = v5 + v9;
    a1 = v10;
  }
  const float v11 = a1;
  const float v12 = 1.0f / v11;
  for (int64_t r3 = 0; r3 < 6; r3++) {
    const float v13 = a2[r3];
    const float v14 = v13 * v12;
    p1[r0 * 6 + r3] = v14;
  }
}
