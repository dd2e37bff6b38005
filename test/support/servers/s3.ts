/** A real S3 server on a free port; it verifies every signature. */
import { existsSync, globSync, readdirSync, utimesSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AwsV4Signer } from 'aws4fetch';
import type { S3Location } from '../../../src/platform/config/blobs.ts';

export type TestS3 = {
  place: S3Location;
  /** Settings that make a service store its bytes here. */
  environment: Record<string, string>;
  /** Deletes the bucket with all that it holds; `again`: and creates an empty one. */
  deleteBucket: (again: boolean) => Promise<void>;
  /** The stored keys. */
  keys: () => string[];
  /** Multipart uploads that are neither completed nor aborted. */
  openUploads: () => number;
  /** Backdates those uploads by this time. */
  ageUploads: (milliseconds: number) => void;
  /** `GET /bucket/key` lines in order of arrival. */
  asked: string[];
  /** Answers the next requests this way before they reach the store. `cut`: closes the connection. */
  fail: (count: number, how: number | 'cut') => void;
  /** Stops listening until `start` on the same port. */
  stop: () => Promise<void>;
  start: () => Promise<void>;
  close: () => Promise<void>;
};

const bucket = 'gantry-bytes';
const suffix = '._S3rver_object';
/** The only account. */
const key = 'S3RVER';
const region = 'eu-1';

const stop = async (server: Server): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  await promise;
};

/** Whether the request is signed correctly by the account. */
const isSigned = async ({ url = '', method = 'GET', headers }: IncomingMessage): Promise<boolean> => {
  const digest = { 'x-amz-content-sha256': String(headers['x-amz-content-sha256']) };
  const signer = new AwsV4Signer({
    url: `http://${headers.host}${url}`,
    method,
    headers: digest,
    accessKeyId: key,
    secretAccessKey: key,
    service: 's3',
    region,
    datetime: String(headers['x-amz-date']),
  });
  return (await signer.sign()).headers.get('authorization') === headers.authorization;
};

export const startS3 = async (): Promise<TestS3> => {
  const directory = await mkdtemp(join(tmpdir(), 'gantry-test-'));
  const { default: S3rver } = await import('@20minutes/s3rver');
  const store = new S3rver({ directory, silent: true, configureBuckets: [{ name: bucket }] });
  await store.configureBuckets();
  const handle = store.callback();
  const uploads = join(directory, bucket, '._S3rver_uploads');
  /** Implements AbortMultipartUpload, which the package lacks. */
  const abort = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
    const folder = join(uploads, searchParams.get('uploadId')?.replaceAll(/\W/g, '') || 'none');
    const of = await readFile(join(folder, 'key'), 'utf8').catch(() => null);
    if (!(await isSigned(request))) response.writeHead(403).end();
    else if (pathname !== `/${bucket}/${of}`)
      response.writeHead(404).end('<Error><Code>NoSuchUpload</Code></Error>');
    else {
      await rm(folder, { recursive: true });
      response.writeHead(204).end();
    }
  };
  /** Implements ListMultipartUploads, which the package lacks. */
  const list = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { searchParams } = new URL(request.url ?? '', 'http://x');
    const prefix = searchParams.get('prefix') ?? '';
    const found = await Promise.all(
      (existsSync(uploads) ? readdirSync(uploads) : []).map(async (id) => ({
        id,
        of: await readFile(join(uploads, id, 'key'), 'utf8'),
        begun: (await stat(join(uploads, id, 'key'))).mtime.toISOString(),
      })),
    );
    const texts = found
      .filter(({ of }) => of.startsWith(prefix))
      .map(
        ({ id, of, begun }) =>
          `<Upload><Key>${of}</Key><UploadId>${id}</UploadId><Initiated>${begun}</Initiated></Upload>`,
      );
    if (!(await isSigned(request))) response.writeHead(403).end();
    else
      response.end(
        `<ListMultipartUploadsResult>${texts.slice(0, Number(searchParams.get('max-uploads'))).join('')}</ListMultipartUploadsResult>`,
      );
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url = '' } = request;
    if (method === 'DELETE' && url.includes('uploadId=')) await abort(request, response);
    else if (method === 'GET' && url.includes('uploads=')) await list(request, response);
    else await handle(request, response);
  };
  const requests: string[] = [];
  let failing: { count: number; how: number | 'cut' } = { count: 0, how: 500 };
  let port = 0;
  let server: Server;
  const start = async (): Promise<void> => {
    server = createServer((request, response) => {
      requests.push(`${request.method} ${request.url?.split('?')[0]}`);
      const isFailing = failing.count > 0;
      if (isFailing) failing.count -= 1;
      if (!isFailing) void answer(request, response);
      else if (failing.how === 'cut') request.socket.destroy();
      else response.writeHead(failing.how).end();
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  };
  await start();
  const endpoint = `http://127.0.0.1:${port}`;
  return {
    place: { endpoint, public_endpoint: endpoint, bucket, region, access_key: key, secret_key: key },
    environment: {
      GANTRY_BLOB_S3_ENDPOINT: endpoint,
      GANTRY_BLOB_S3_PUBLIC_ENDPOINT: endpoint,
      GANTRY_BLOB_S3_BUCKET: bucket,
      GANTRY_BLOB_S3_REGION: region,
      GANTRY_BLOB_S3_ACCESS_KEY: key,
      GANTRY_BLOB_S3_SECRET_KEY: key,
    },
    deleteBucket: async (again) => {
      await rm(join(directory, bucket), { recursive: true });
      if (again) await store.configureBuckets();
    },
    keys: () =>
      globSync(`**/*${suffix}`, { cwd: join(directory, bucket) })
        .map((file) => file.slice(0, -suffix.length))
        .toSorted(),
    openUploads: () => (existsSync(uploads) ? readdirSync(uploads).length : 0),
    ageUploads: (milliseconds) => {
      const then = new Date(Date.now() - milliseconds);
      for (const id of readdirSync(uploads)) utimesSync(join(uploads, id, 'key'), then, then);
    },
    asked: requests,
    fail: (count, how) => void (failing = { count, how }),
    stop: async () => await stop(server),
    start,
    close: async () => {
      await stop(server);
      await rm(directory, { recursive: true });
    },
  };
};
