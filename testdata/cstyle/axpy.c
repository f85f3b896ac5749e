UOP_KERNEL void axpy(void *const *places, const int64_t *scalars, int64_t task, void *scratch) {
  const float *restrict p1 = (const float *)places[0];
  const float *restrict p2 = (const float *)places[1];
  float *restrict p3 = (float *)places[2];
  const float s0 = uop_bits_u32_f32((uint32_t)scalars[0]);
  (void)task; (void)scratch;
  for (int64_t r0 = 0; r0 < 13; r0++) {
    const float v0 = p1[r0];
    const float v1 = p2[r0];
    const float v2 = s0 * v0;
    const float v3 = v2 + v1;
    p3[r0] = v3;
  }
}
