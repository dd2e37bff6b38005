/** Answers to what never became a request: no HTTP at all, too long a head, or too slow. */
import type { Socket } from 'node:net';

const statusOf: Record<string, string> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Request Entity Too Large',
};

/** Node's `clientError`: nothing of the connection can be trusted any more, so it ends with the answer. */
export const answerBroken = (error: { code?: string }, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = statusOf[error.code ?? ''] ?? '400 Bad request';
  const body = JSON.stringify({ message: status });
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  socket.write(`${head}\r\nConnection: close\r\n\r\n${body}`);
  socket.destroySoon();
};
