UOP_KERNEL void accumulator_read_then_write(void *const *places, const int64_t *scalars, int64_t task, void *scratch) {
  int32_t *restrict p0 = (int32_t *)places[0];
  (void)scalars; (void)task; (void)scratch;
  int32_t a0;
  a0 = 100;
  for (int64_t r0 = 0; r0 < 3; r0++) {
    const int32_t v0 = (int32_t)r0;
    const int32_t v1 = a0;
    a0 = v0;
    const int32_t v2 = a0;
    const int32_t v3 = (int32_t)((uint32_t)v1 + (uint32_t)v2);
    p0[r0] = v3;
  }
}
