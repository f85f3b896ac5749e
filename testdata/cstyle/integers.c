UOP_KERNEL void integers(void *const *places, const int64_t *scalars, int64_t task, void *scratch) {
  const uint8_t *restrict p0 = (const uint8_t *)places[0];
  const int16_t *restrict p1 = (const int16_t *)places[1];
  const int32_t *restrict p2 = (const int32_t *)places[2];
  const int64_t *restrict p3 = (const int64_t *)places[3];
  int64_t *restrict p4 = (int64_t *)places[4];
  (void)scalars; (void)task; (void)scratch;
  for (int64_t r0 = 0; r0 < 16; r0++) {
    const uint8_t v0 = p0[r0];
    const int16_t v1 = p1[r0];
    const int32_t v2 = p2[r0];
    const int64_t v3 = p3[r0];
    const uint8_t v4 = (uint8_t)((uint32_t)v0 + (uint32_t)255);
    const uint8_t v5 = (uint8_t)((uint32_t)v4 * (uint32_t)v4);
    const bool v6 = v0 < (uint8_t){0};
    const int16_t v7 = (int16_t)((uint32_t)v1 * (uint32_t)v1);
    const int16_t v8 = uop_floordiv_i16(v7, (-7));
    const int16_t v9 = uop_floormod_i16(v1, (-7));
    const int32_t v10 = (int32_t)((uint32_t)v2 + (uint32_t)INT32_MIN);
    const int32_t v11 = (int32_t)(0u - (uint32_t)v10);
    const int32_t v12 = uop_shl_i32(v11, 3);
    const int32_t v13 = uop_shr_i32(v2, 3);
    const int64_t v14 = v3 > INT64_MIN ? v3 : INT64_MIN;
    const int64_t v15 = (int64_t)((uint64_t)v14 + (uint64_t)INT64_MIN);
    const int64_t v16 = (int64_t)v5;
    const int64_t v17 = (int64_t)v8;
    const int64_t v18 = (int64_t)v9;
    const int64_t v19 = (int64_t)v12;
    const int64_t v20 = (int64_t)v13;
    const int64_t v21 = v16 + v17;
    const int64_t v22 = v21 ^ v18;
    const int64_t v23 = (int64_t)((uint64_t)v22 + (uint64_t)v19);
    const int64_t v24 = v23 ^ v20;
    const int64_t v25 = (int64_t)((uint64_t)v24 + (uint64_t)v15);
    const int64_t v26 = v6 ? INT64_MIN : v25;
    p4[r0] = v26;
  }
}
