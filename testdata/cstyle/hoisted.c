UOP_KERNEL void hoisted(void *const *places, const int64_t *scalars, int64_t task, void *scratch) {
  const float *restrict p0 = (const float *)places[0];
  float *restrict p1 = (float *)places[1];
  const float s2 = uop_bits_u32_f32((uint32_t)scalars[0]);
  (void)task; (void)scratch;
  const float v0 = s2 * 0.5f;
  for (int64_t r0 = 0; r0 < 6; r0++) {
    const int64_t v1 = r0 + 1;
    const float v2 = p0[r0];
    const float v3 = v2 * v0;
    for (int64_t r1 = 0; r1 < v1; r1++) {
      const int64_t v4 = r1 % 6;
      const float v5 = (float)r1;
      const float v6 = v3 + v5;
      const float v7 = v6 * 0x1.99999ap-4f;
      p1[r0 * 6 + v4] = v7;
    }
  }
}
