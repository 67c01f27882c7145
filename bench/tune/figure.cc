#include "tune/figure.h"

#include "common/world.h"

namespace headrace::bench::tune {

void write(JsonWriter& json, const Figure& figure) {
  json.open_object();
  json.member("what", figure.what);
  json.member("ranks", figure.ranks);
  json.member("bytes", figure.bytes);
  json.member("count", figure.count);
  json.member("gap", figure.gap);
  json.member("path", figure.path);
  json.open_array("seconds");
  for (const double seconds : figure.seconds) json.member("", seconds);
  json.close_array();
  json.close_object();
}

void repeat(MPI_Comm communicator, double seconds, int least, const std::function<void()>& sample) {
  const double begin = node_clock();
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  for (int i = 0; i < kMostSamples; ++i) {
    sample();
    int goes_on = rank == 0 && (i + 1 < least || node_clock() - begin < seconds) ? 1 : 0;
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, communicator);
    if (goes_on == 0) return;
  }
}

}  // namespace headrace::bench::tune
