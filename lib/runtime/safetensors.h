// .safetensors: 8 bytes of header length, a JSON header, then the elements. https://github.com/huggingface/safetensors
#pragma once
#include "runtime/arrays.h"

namespace uop {

// "__metadata__" is ignored. Errors: Diag::BadFile: a header above 100 MB, bad JSON, an unknown dtype, data_offsets out of
// range, of the wrong size, overlapping or leaving a hole, a name given twice.
Result<ArrayMap> parseSafetensors(std::string_view data, std::string_view name);

// Arrays in the order given; the header is padded to 8 bytes. Errors: Diag::BadFile for two arrays of one name.
Result<std::string> serializeSafetensors(const ArrayList& arrays, std::string_view name);

}  // namespace uop
