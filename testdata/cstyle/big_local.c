UOP_KERNEL void big_local(void *const *places, const int64_t *scalars, int64_t task, void *scratch) {
  const float *restrict p0 = (const float *)places[0];
  float *restrict p1 = (float *)places[1];
  float *restrict a0 = (float *)((char *)scratch + 0);
  (void)scalars;
  const int64_t r0 = task;
  _Alignas(64) float a1[2];
  for (int64_t r1 = 0; r1 < 8192; r1++) {
    const float v0 = p0[r0 * 8192 + r1];
    a0[r1] = v0;
  }
  a1[0] = 0.0f;
  a1[1] = (-0.0f);
  const float v1 = a1[0];
  const float v2 = a1[1];
  for (int64_t r2 = 0; r2 < 8192; r2++) {
    const int64_t v3 = -r2;
    const int64_t v4 = 8191 + v3;
    const float v5 = a0[v4];
    const float v6 = v5 + v1;
    const float v7 = v6 * v2;
    p1[r0 * 8192 + r2] = v7;
  }
}
