UOP_KERNEL void matmul_tasks(void *const *places, const int64_t *scalars, int64_t task, void *scratch) {
  const float *restrict p0 = (const float *)places[0];
  const float *restrict p1 = (const float *)places[1];
  float *restrict p2 = (float *)places[2];
  (void)scalars; (void)scratch;
  const int64_t r1 = task % 3;
  const int64_t r0 = task / 3;
  _Alignas(64) float a0[4];
  for (int64_t r2 = 0; r2 < 4; r2++) {  // upcast
    a0[r2] = 0.0f;
  }
  const int64_t v0 = r1 * 4;
  for (int64_t r3 = 0; r3 < 4; r3++) {  // reduce
    const int64_t v1 = r3 * 2;
#pragma GCC unroll 2
    for (int64_t r4 = 0; r4 < 2; r4++) {  // unroll
      const int64_t v2 = v1 + r4;
      const float v3 = p0[r0 * 8 + v2];
      for (int64_t r5 = 0; r5 < 4; r5++) {  // upcast
        const int64_t v4 = v0 + r5;
        const float v5 = p1[v2 * 12 + v4];
        const float v6 = v3 * v5;
        const float v7 = a0[r5];
        const float v8 = v7 + v6;
        a0[r5] = v8;
      }
    }
  }
  for (int64_t r6 = 0; r6 < 4; r6++) {  // upcast
    const float v9 = a0[r6];
    const float v10 = uop_max_f32(v9, 0.0f);
    const int64_t v11 = v0 + r6;
    p2[r0 * 12 + v11] = v10;
  }
}
