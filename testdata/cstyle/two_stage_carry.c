UOP_KERNEL void two_stage_carry(void *const *places, const int64_t *scalars, int64_t task, void *scratch) {
  const int32_t *restrict p0 = (const int32_t *)places[0];
  int32_t *restrict p1 = (int32_t *)places[1];
  (void)scalars; (void)task; (void)scratch;
  int32_t a0;
  for (int64_t r0 = 0; r0 < 7; r0++) {
    const bool v0 = r0 != 0;
    const int32_t v1 = v0 ? a0 : 0;
    const int32_t v2 = p0[r0];
    a0 = v2;
    const int32_t v3 = (int32_t)((uint32_t)v2 + (uint32_t)v1);
    p1[r0] = v3;
  }
}
