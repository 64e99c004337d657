#include <cstdio>
#include <tile/tile.hpp>
#include <vector>

int main(int argc, char **argv) {
  tile::Device device;
  tile::Jit jit(device, argc > 1 ? argv[1] : "");
  tile::JitKernel add = jit.kernel("add");
  const std::size_t n = 1000;
  std::vector<float> data(n, 1.5f);
  tile::Buffer<float> x(device, n), out(device, n);
  x.upload(data.data());
  add.launch({4, 1, 1}, tile::array(x.address(), TILE_FP32), tile::array(x.address(), TILE_FP32), tile::array(out.address(), TILE_FP32), n, 256);
  out.download(data.data());
  std::size_t right = 0;
  for (float v : data) right += v == 3.0f;
  std::printf("%zu sums are right\n", right);
  try {
    add.launch({4, 1, 1}, tile::array(x.address(), TILE_FP32));
  } catch (const tile::Error &e) {
    std::printf("refused with %d: %s\n", static_cast<int>(e.status), e.what());
  }
}
