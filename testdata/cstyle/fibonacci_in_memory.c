UOP_KERNEL void fibonacci_in_memory(void *const *places, const int64_t *scalars, int64_t task, void *scratch) {
  uint32_t *restrict p0 = (uint32_t *)places[0];
  (void)scalars; (void)task; (void)scratch;
  p0[0] = 1u;
  p0[1] = 1u;
  for (int64_t r0 = 0; r0 < 48; r0++) {
    const int64_t v0 = r0 + 1;
    const int64_t v1 = r0 + 2;
    const uint32_t v2 = p0[r0];
    const uint32_t v3 = p0[v0];
    const uint32_t v4 = v2 + v3;
    p0[v1] = v4;
  }
}
