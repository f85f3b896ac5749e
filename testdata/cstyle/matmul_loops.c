UOP_KERNEL void matmul_loops(void *const *places, const int64_t *scalars, int64_t task, void *scratch) {
  const float *restrict p0 = (const float *)places[0];
  const float *restrict p1 = (const float *)places[1];
  float *restrict p2 = (float *)places[2];
  (void)scalars; (void)task; (void)scratch;
  for (int64_t r0 = 0; r0 < 4; r0++) {
    for (int64_t r1 = 0; r1 < 5; r1++) {
      float a0;
      a0 = 0.0f;
      for (int64_t r2 = 0; r2 < 6; r2++) {  // reduce
        const float v0 = p0[r0 * 6 + r2];
        const float v1 = p1[r2 * 5 + r1];
        const float v2 = v0 * v1;
        const float v3 = a0;
        const float v4 = v3 + v2;
        a0 = v4;
      }
      const float v5 = a0;
      p2[r0 * 5 + r1] = v5;
    }
  }
}
