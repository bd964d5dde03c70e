"""Yang, Zhang & Song, SIGIR 2018."""
