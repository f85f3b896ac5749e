UOP_KERNEL void flat_index_arithmetic(void *const *places, const int64_t *scalars, int64_t task, void *scratch) {
  const int32_t *restrict p0 = (const int32_t *)places[0];
  int32_t *restrict p1 = (int32_t *)places[1];
  (void)scalars; (void)task; (void)scratch;
  for (int64_t r0 = 0; r0 < 12; r0++) {
    const int64_t v0 = r0 / 4;
    const int64_t v1 = r0 % 4;
    const int64_t v2 = -r0;
    const int64_t v3 = 11 + v2;
    const int32_t v4 = p0[v0 * 4 + v1];
    p1[v3] = v4;
  }
}
