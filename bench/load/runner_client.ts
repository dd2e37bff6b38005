/** A runner with as little client as can be: one connection, one request at a time. */
import { type Answer, Connection } from './connection.ts';

export type Taken = { id: number; token: string };

const info = {
  name: 'gitlab-runner',
  version: '19.4.0',
  platform: 'linux',
  architecture: 'amd64',
  executor: 'shell',
  features: { refspecs: true, trace_checksum: true, cancelable: true, upload_multiple_artifacts: true },
};

const request = (line: string, headers: string, body: string): string =>
  `${line} HTTP/1.1\r\nhost: 127.0.0.1\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

const json = 'content-type: application/json\r\n';

const expect = (what: string, { status, body }: Answer, wanted: number): void => {
  if (status !== wanted) throw new Error(`${what}: ${status} ${body.toString('utf8', 0, 300)}`);
};

const takenOf = ({ body }: Answer): Taken => {
  const [, id, token] = /"id":(\d+),"token":"([^"]+)"/.exec(body.toString('utf8', 0, 500)) ?? [];
  if (id === undefined || token === undefined) throw new Error('the answer is no job');
  return { id: Number(id), token };
};

export type RunnerClient = {
  connection: Connection;
  /** Asks once; held, from the second time on, where there is no job. */
  poll: () => Promise<Taken | null>;
  close: () => void;
};

export const openRunner = async (port: number, token: string): Promise<RunnerClient> => {
  const connection = await Connection.open(port);
  let told = {};
  const poll = async (): Promise<Taken | null> => {
    const body = JSON.stringify({ info, token, system_id: 's_0123456789ab', ...told });
    const answer = await connection.send(request('POST /api/v4/jobs/request', json, body));
    const [, last_update] = /\r\nx-gitlab-last-update: *(\w+)/i.exec(answer.head) ?? [];
    if (last_update !== undefined) told = { last_update };
    if (answer.status === 204) return null;
    expect('a request for a job', answer, 201);
    return takenOf(answer);
  };
  return { connection, poll, close: () => connection.close() };
};

/** Adds a piece to a log that is `start` bytes long. */
export const appendPiece = async (
  connection: Connection,
  { id, token }: Taken,
  start: number,
  piece: string,
): Promise<void> => {
  const headers = `job-token: ${token}\r\ncontent-type: text/plain\r\ncontent-range: ${start}-${start + piece.length - 1}\r\n`;
  const line = `PATCH /api/v4/jobs/${id}/trace`;
  expect('a piece of a log', await connection.send(request(line, headers, piece)), 202);
};

export const endJob = async (connection: Connection, { id, token }: Taken): Promise<void> => {
  const body = JSON.stringify({ token, state: 'success' });
  expect('the end of a job', await connection.send(request(`PUT /api/v4/jobs/${id}`, json, body)), 200);
};
