#include <vector>

namespace linear {

template <class Number>
struct Matrix {
  std::vector<Number> values;
  long rows;
  Number sum() const;
};

template <class Number>
Number Matrix<Number>::sum() const {
  Number total = 0;
  for (long i = 0; i < rows; i++) {
    total += values[i * rows];
  }
  return total;
}

double trace(const Matrix<double>& one) {
  return one.sum();
}

}  // namespace linear
