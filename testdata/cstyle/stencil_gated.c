UOP_KERNEL void stencil_gated(void *const *places, const int64_t *scalars, int64_t task, void *scratch) {
  const float *restrict p0 = (const float *)places[0];
  float *restrict p1 = (float *)places[1];
  (void)scalars; (void)task; (void)scratch;
  for (int64_t r0 = 0; r0 < 10; r0++) {
    const int64_t v0 = r0 + (-1);
    const int64_t v1 = r0 + 1;
    const bool v2 = (-1) < v0;
    const bool v3 = v1 < 10;
    const float v4 = v2 ? p0[v0] : 0.0f;
    const float v5 = p0[r0];
    const float v6 = v3 ? p0[v1] : 0.0f;
    const float v7 = v4 + v5;
    const float v8 = v7 + v6;
    p1[r0] = v8;
  }
}
