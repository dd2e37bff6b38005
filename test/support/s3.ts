/** A real store that speaks S3, on a free port; it checks every signature. */
import { globSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { S3Place } from '../../src/config_blobs.ts';

export type TestS3 = {
  place: S3Place;
  /** What a service is told, so that it keeps its bytes there. */
  environment: Record<string, string>;
  /** Keys that there are. */
  keys: () => string[];
  /** Uploads in parts that were begun and neither completed nor aborted. */
  openUploads: () => number;
  /** `GET /bucket/key`, in the order in which they came. */
  asked: string[];
  /** As many requests as that are answered so, before the store hears of any. `cut`: not at all. */
  fail: (count: number, how: number | 'cut') => void;
  /** Nobody answers any more, until it starts again on the same port. */
  stop: () => Promise<void>;
  start: () => Promise<void>;
  close: () => Promise<void>;
};

const bucket = 'gantry-bytes';
const suffix = '._S3rver_object';
/** The account that it knows. */
const key = 'S3RVER';

const stop = async (server: Server): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  await promise;
};

export const startS3 = async (): Promise<TestS3> => {
  const directory = await mkdtemp(join(tmpdir(), 'gantry-test-'));
  const { default: S3rver } = await import('@20minutes/s3rver');
  const store = new S3rver({ directory, silent: true, configureBuckets: [{ name: bucket }] });
  await store.configureBuckets();
  const handle = store.callback();
  const asked: string[] = [];
  let failing: { count: number; how: number | 'cut' } = { count: 0, how: 500 };
  let port = 0;
  let server: Server;
  const start = async (): Promise<void> => {
    server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url?.split('?')[0]}`);
      const isFailing = failing.count > 0;
      if (isFailing) failing.count -= 1;
      if (!isFailing) void handle(request, response);
      else if (failing.how === 'cut') request.socket.destroy();
      else response.writeHead(failing.how).end();
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  };
  await start();
  const endpoint = `http://127.0.0.1:${port}`;
  return {
    place: { endpoint, public_endpoint: endpoint, bucket, region: 'eu-1', access_key: key, secret_key: key },
    environment: {
      GANTRY_BLOB_S3_ENDPOINT: endpoint,
      GANTRY_BLOB_S3_PUBLIC_ENDPOINT: endpoint,
      GANTRY_BLOB_S3_BUCKET: bucket,
      GANTRY_BLOB_S3_REGION: 'eu-1',
      GANTRY_BLOB_S3_ACCESS_KEY: key,
      GANTRY_BLOB_S3_SECRET_KEY: key,
    },
    keys: () =>
      globSync(`**/*${suffix}`, { cwd: join(directory, bucket) })
        .map((file) => file.slice(0, -suffix.length))
        .toSorted(),
    openUploads: () => globSync('*_uploads/*', { cwd: join(directory, bucket) }).length,
    asked,
    fail: (count, how) => void (failing = { count, how }),
    stop: async () => await stop(server),
    start,
    close: async () => {
      await stop(server);
      await rm(directory, { recursive: true });
    },
  };
};
