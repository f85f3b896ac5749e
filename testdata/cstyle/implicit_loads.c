UOP_KERNEL void implicit_loads(void *const *places, const int64_t *scalars, int64_t task, void *scratch) {
  const int32_t *restrict p0 = (const int32_t *)places[0];
  int32_t *restrict p1 = (int32_t *)places[1];
  (void)scalars; (void)task; (void)scratch;
  for (int64_t r0 = 0; r0 < 6; r0++) {
    const int32_t v0 = p0[r0];
    const int32_t v1 = (int32_t)((uint32_t)v0 * (uint32_t)v0);
    p1[r0] = v1;
  }
}
