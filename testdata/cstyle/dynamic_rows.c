UOP_KERNEL void dynamic_rows(void *const *places, const int64_t *scalars, int64_t task, void *scratch) {
  const uint16_t *restrict p4 = (const uint16_t *)places[0];
  double *restrict p5 = (double *)places[1];
  const float s1 = uop_f16_to_f32((uint16_t)scalars[1]);
  const double s2 = uop_bits_i64_f64(scalars[2]);
  const bool s3 = scalars[3] != 0;
  (void)scratch;
  const float v0 = uop_bf16_to_f32(uop_f32_to_bf16(s1));
  const int64_t r1 = task % 3;
  const int64_t r0 = task / 3;
  const float v1 = uop_bf16_to_f32(p4[r0 * 3 + r1]);
  const float v2 = uop_bf16_to_f32(uop_f32_to_bf16(v1 * v0));
  const double v3 = (double)v2;
  const double v4 = v3 + s2;
  if (s3) p5[r0 * 3 + r1] = v4;
}
