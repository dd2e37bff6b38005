/** One keep-alive connection that sends one request at a time. The client is minimal, so that its own cost stays out of the figures. */
import { type Socket, connect } from 'node:net';

export type Answer = { status: number; head: string; body: Buffer };

const headEnd = Buffer.from('\r\n\r\n');

/** Length of the answer's body; an answer without one has a length, too. */
const lengthOf = (head: string): number => {
  const match = /\r\ncontent-length: *(\d+)/i.exec(head);
  if (match !== null) return Number(match[1]);
  if (/^HTTP\/1\.1 (?:204|304)/.test(head)) return 0;
  throw new Error(`an answer without a length: ${head}`);
};

export class Connection {
  readonly #socket: Socket;
  #chunks: Buffer[] = [];
  #received = 0;
  /** Bytes of the whole answer; null until its head is there. */
  #expected: number | null = null;
  #bodyAt = 0;
  #head = '';
  #waiting: PromiseWithResolvers<Answer> | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the connection was closed')));
  }

  static async open(port: number): Promise<Connection> {
    const { promise, resolve, reject } = Promise.withResolvers<Connection>();
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => resolve(new Connection(socket)));
    socket.once('error', reject);
    return await promise;
  }

  send(request: string): Promise<Answer> {
    if (this.#socket.destroyed) return Promise.reject(new Error('the connection was closed before'));
    this.#waiting = Promise.withResolvers<Answer>();
    this.#socket.write(request);
    return this.#waiting.promise;
  }

  close(): void {
    this.#waiting = null;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#received += chunk.length;
    if (this.#expected === null) this.#readHead();
    if (this.#expected !== null && this.#received >= this.#expected) this.#finish();
  }

  #readHead(): void {
    const all = Buffer.concat(this.#chunks);
    this.#chunks = [all];
    const end = all.indexOf(headEnd);
    if (end === -1) return;
    const head = all.toString('latin1', 0, end);
    this.#head = head;
    this.#bodyAt = end + headEnd.length;
    this.#expected = this.#bodyAt + lengthOf(head);
  }

  #finish(): void {
    const body = Buffer.concat(this.#chunks).subarray(this.#bodyAt);
    this.#chunks = [];
    this.#received = 0;
    this.#expected = null;
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve({ status: Number(this.#head.slice(9, 12)), head: this.#head, body });
  }

  #fail(error: Error): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.reject(error);
  }
}
