UOP_KERNEL void inplace_bare(void *const *places, const int64_t *scalars, int64_t task, void *scratch) {
  int32_t *restrict p0 = (int32_t *)places[0];
  (void)scalars; (void)scratch;
  const int64_t r0 = task;
  for (int64_t r1 = 0; r1 < 2; r1++) {
    const int64_t v0 = r1 * 2;
    const int64_t v1 = v0 + 1;
    const int32_t v2 = p0[r0 * 4 + v0];
    const int32_t v3 = p0[r0 * 4 + v1];
    const int32_t v4 = (int32_t)((uint32_t)v2 + (uint32_t)v2);
    const int32_t v5 = (int32_t)((uint32_t)v3 * (uint32_t)v3);
    p0[r0 * 4 + v1] = v5;
    p0[r0 * 4 + v0] = v4;
  }
}
