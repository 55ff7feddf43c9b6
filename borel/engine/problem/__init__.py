"""What engines are asked: the secret, the kernel, and what is proved of both."""
