// C = A·B by examples/matmul.tile from C++, as in matmul.c.
//   c++ -std=c++17 matmul.cpp $(pkg-config --cflags --libs libtile) -o matmul && ./matmul ../matmul.tile 4096
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <tile/tile.hpp>
#include <vector>

int main(int argc, char **argv) try {
  const std::int64_t n = argc > 2 ? std::atoll(argv[2]) : 64;
  const std::size_t count = static_cast<std::size_t>(n * n);
  tile::Device device;
  tile_jit_options options = TILE_JIT_OPTIONS_INIT;
  options.tune = TILE_TUNE_ON;
  tile::Jit jit(device, argc > 1 ? argv[1] : "matmul.tile", &options);
  const tile::JitKernel matmul = jit.kernel("matmul_kernel");
  std::vector<std::uint16_t> host(count, 0x3c00);   // 1.0
  tile::Buffer<std::uint16_t> a(device, count), b(device, count), c(device, count);
  a.upload(host.data());
  b.upload(host.data());

  const std::size_t bytes[] = {a.bytes(), b.bytes(), c.bytes()};
  tile_jit_launch_options launch = TILE_JIT_LAUNCH_OPTIONS_INIT;
  launch.arg_bytes = bytes;
  launch.num_arg_bytes = 3;
  std::int64_t size = n;
  launch.grid_user = &size;
  launch.grid_fn = [](void *user, const tile_variant *v, std::uint32_t grid[3]) {
    const std::int64_t n = *static_cast<std::int64_t *>(user);
    const std::int64_t bm = tile_variant_constexpr_int(v, "BM", 1), bn = tile_variant_constexpr_int(v, "BN", 1);
    grid[0] = static_cast<std::uint32_t>((n + bm - 1) / bm * ((n + bn - 1) / bn));
  };
  auto fp16 = [](const tile::Buffer<std::uint16_t> &x) { return tile::array(x.address(), TILE_FP16); };
  matmul.launch_with(launch, fp16(a), fp16(b), fp16(c), n, n, n, n, 1, n, 1, n, 1);
  device.synchronize();
  c.download(host.data());
  std::printf("%s: first element 0x%04x, last 0x%04x\n", tile_device_name(device.get()), host.front(), host.back());
} catch (const tile::Error &e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
