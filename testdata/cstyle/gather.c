UOP_KERNEL void gather(void *const *places, const int64_t *scalars, int64_t task, void *scratch) {
  const int32_t *restrict p0 = (const int32_t *)places[0];
  const float *restrict p1 = (const float *)places[1];
  float *restrict p2 = (float *)places[2];
  (void)scalars; (void)task; (void)scratch;
  for (int64_t r0 = 0; r0 < 6; r0++) {
    const int32_t v0 = p0[r0];
    for (int64_t r1 = 0; r1 < 3; r1++) {
      const float v1 = p1[(int64_t)v0 * 3 + r1];
      p2[r0 * 3 + r1] = v1;
    }
  }
}
