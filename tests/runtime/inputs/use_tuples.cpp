#include <cstdio>
#include <tile/tile.hpp>
#include <vector>

int main(int argc, char **argv) {
  tile::Device device;
  tile::Jit jit(device, argc > 1 ? argv[1] : "");
  std::vector<float> data(64, 1.5f);
  tile::Buffer<float> x(device, 64), out(device, 64);
  x.upload(data.data());
  const tile_arg from = tile::array(x.address(), TILE_FP32), to = tile::array(out.address(), TILE_FP32);
  jit.kernel("line").launch({1, 1, 1}, std::make_pair(from, nullptr), std::make_tuple(2.0, std::make_tuple(5)), 64, to);
  out.download(data.data());
  std::printf("%g\n", static_cast<double>(data[63]));
  jit.kernel("apply").launch({1, 1, 1}, tile::named("Function", "saxpy", std::make_tuple(4.0, 1)), from, to, std::make_tuple("64"));
  out.download(data.data());
  std::printf("%g\n", static_cast<double>(data[63]));
}
