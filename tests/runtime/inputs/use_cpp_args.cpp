// Arguments of which a copy or a narrower type would be wrong.
#include <cstdio>
#include <tile/tile.hpp>
#include <vector>

int main(int argc, char **argv) {
  tile::Device device;
  tile::Jit jit(device, argc > 1 ? argv[1] : "");
  std::vector<float> data(64, 1.5f);
  tile::Buffer<float> x(device, 64), out(device, 64);
  x.upload(data.data());
  const std::int64_t shape[2] = {8, 8}, block[2] = {8, 8};
  tile_tensor from, to;
  tile::check([&](tile_error **e) { return tile_tensor_init(&from, x.address(), TILE_FP32, 2, shape, nullptr, block, e); });
  tile::check([&](tile_error **e) { return tile_tensor_init(&to, out.address(), TILE_FP32, 2, shape, nullptr, block, e); });
  jit.kernel("both").launch({1, 1, 1}, std::make_pair(from, to));
  out.download(data.data());
  std::printf("%g\n", static_cast<double>(data[63]));
  jit.kernel("wide").launch({1, 1, 1}, tile::array(out.address(), TILE_FP32), UINT64_C(0xf000000000000000));
  out.download(data.data());
  std::printf("%g\n", static_cast<double>(data[0]));
  jit.kernel("nothing").launch({1, 1, 1});
  try {
    tile::Buffer<double> large(device, static_cast<std::size_t>(-1) / 4);
  } catch (const std::bad_alloc &) {
    std::printf("too large\n");
  }
}
