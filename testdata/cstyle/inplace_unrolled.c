UOP_KERNEL void inplace_unrolled(void *const *places, const int64_t *scalars, int64_t task, void *scratch) {
  uint16_t *restrict p0 = (uint16_t *)places[0];
  (void)scalars; (void)task; (void)scratch;
  for (int64_t r0 = 0; r0 < 5; r0++) {
    const int64_t v0 = r0 * 2;
    const int64_t v1 = v0 + 1;
    const float v2 = uop_f16_to_f32(p0[v0]);
    const float v3 = uop_f16_to_f32(p0[v1]);
    const float v4 = uop_f16_to_f32(uop_f32_to_f16(v2 + v3));
    const float v5 = -v3;
    const float v6 = uop_f16_to_f32(uop_f32_to_f16(v2 + v5));
    p0[v0] = uop_f32_to_f16(v4);
    p0[v1] = uop_f32_to_f16(v6);
  }
}
