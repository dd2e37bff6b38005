/** Responds to malformed requests: not HTTP, head too long, or too slow. */
import type { Socket } from 'node:net';

const parseStatus: Record<string, string> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Request Entity Too Large',
};

/** Handles Node's `clientError`. The connection is in an unknown state, so the response closes it. */
export const answerMalformedRequest = (error: { code?: string }, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = parseStatus[error.code ?? ''] ?? '400 Bad request';
  const body = JSON.stringify({ message: status });
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  socket.write(`${head}\r\nConnection: close\r\n\r\n${body}`);
  socket.destroySoon();
};
