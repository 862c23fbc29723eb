#include "core/formats/xla_shape.h"

#include <algorithm>
#include <array>

#include "core/formats/wire.h"

namespace tutti::core {
namespace {

/// The name and size of XLA's element types, by number (xla_data.proto, PrimitiveType).
struct XlaType {
  std::uint64_t number;
  std::string_view name;
  std::int64_t bytes;
};
constexpr std::array kXlaTypes{XlaType{1, "pred", 1},
                               XlaType{2, "s8", 1},
                               XlaType{3, "s16", 2},
                               XlaType{4, "int32", 4},
                               XlaType{5, "int64", 8},
                               XlaType{6, "uint8", 1},
                               XlaType{7, "u16", 2},
                               XlaType{8, "uint32", 4},
                               XlaType{9, "uint64", 8},
                               XlaType{10, "f16", 2},
                               XlaType{11, "f32", 4},
                               XlaType{12, "float64", 8},
                               XlaType{15, "complexfloat", 8},
                               XlaType{16, "bf16", 2},
                               XlaType{19, "float8_e5m2", 1},
                               XlaType{18, "c128", 16},
                               XlaType{20, "float8_e4m3fn", 1},
                               XlaType{23, "f8e4m3b11fnuz", 1},
                               XlaType{24, "f8e5m2fnuz", 1},
                               XlaType{25, "f8e4m3fnuz", 1},
                               XlaType{28, "f8e4m3", 1},
                               XlaType{29, "f8e3m4", 1}};
/// XLA's types without elements: invalid, tuple, opaque and token.
constexpr std::array<std::uint64_t, 4> kXlaTypesWithoutElements{0, 13, 14, 17};

}  // namespace

void add_shape(std::string_view shape, int depth, XlaShape& to) {
  constexpr std::int64_t kMost = std::int64_t{1} << 46;
  std::int64_t elements = 1, item = 0;
  const auto times = [&](std::uint64_t side) {
    if (side > 0 && (side > static_cast<std::uint64_t>(kMost) ||
                     elements > kMost / static_cast<std::int64_t>(side)))
      elements = 0;
    else
      elements *= static_cast<std::int64_t>(side);
  };
  WireFields fields(shape);
  while (const auto field = fields.next()) {
    if (field->number == 2) {
      const auto* const known =
          std::find_if(kXlaTypes.begin(), kXlaTypes.end(),
                       [&](const XlaType& one) { return one.number == field->value; });
      if (known != kXlaTypes.end()) {
        item = known->bytes;
        if (to.type.empty()) to.type = known->name;
      } else if (std::find(kXlaTypesWithoutElements.begin(), kXlaTypesWithoutElements.end(),
                           field->value) == kXlaTypesWithoutElements.end()) {
        to.unknown_type = field->value;
      }
    } else if (field->number == 3 && field->type == 0) {
      times(field->value);
    } else if (field->number == 3) {
      std::string_view packed = field->bytes;
      while (!packed.empty()) {
        const auto side = WireFields::take_varint(packed);
        if (!side) break;
        times(*side);
      }
    } else if (field->number == 4 && field->type == 2 && depth < 3) {
      add_shape(field->bytes, depth + 1, to);
    }
  }
  to.bytes = std::min(
      kMost, to.bytes + std::min(elements, kMost / std::max<std::int64_t>(1, item)) * item);
}

}  // namespace tutti::core
