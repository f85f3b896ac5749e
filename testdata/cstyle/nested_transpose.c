UOP_KERNEL void nested_transpose(void *const *places, const int64_t *scalars, int64_t task, void *scratch) {
  const float *restrict p0 = (const float *)places[0];
  float *restrict p1 = (float *)places[1];
  (void)scalars; (void)task; (void)scratch;
  for (int64_t r0 = 0; r0 < 3; r0++) {
    for (int64_t r1 = 0; r1 < 5; r1++) {
      const float v0 = p0[r0 * 5 + r1];
      p1[r1 * 3 + r0] = v0;
    }
  }
}
