UOP_KERNEL void tile_local(void *const *places, const int64_t *scalars, int64_t task, void *scratch) {
  const float *restrict p0 = (const float *)places[0];
  float *restrict p1 = (float *)places[1];
  (void)scalars; (void)task; (void)scratch;
  _Alignas(64) float a0[4];
  for (int64_t r0 = 0; r0 < 3; r0++) {
    for (int64_t r1 = 0; r1 < 4; r1++) {
      const float v0 = p0[r0 * 4 + r1];
      a0[r1] = v0;
    }
    for (int64_t r2 = 0; r2 < 4; r2++) {
      const int64_t v1 = -r2;
      const int64_t v2 = 3 + v1;
      const float v3 = a0[v2];
      const float v4 = v3 + v3;
      p1[r0 * 4 + r2] = v4;
    }
  }
}
