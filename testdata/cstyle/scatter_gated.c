UOP_KERNEL void scatter_gated(void *const *places, const int64_t *scalars, int64_t task, void *scratch) {
  const int32_t *restrict p0 = (const int32_t *)places[0];
  const float *restrict p1 = (const float *)places[1];
  float *restrict p2 = (float *)places[2];
  (void)scalars; (void)task; (void)scratch;
  for (int64_t r0 = 0; r0 < 7; r0++) {
    const int32_t v0 = p0[r0];
    const bool v1 = (-1) < v0;
    const bool v2 = v0 < 5;
    const bool v3 = v1 & v2;
    const float v4 = p1[r0];
    if (v3) p2[(int64_t)v0] = v4;
  }
}
