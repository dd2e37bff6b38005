/** What jobs leave behind, and what those after them take of it. */
import type { Call } from '../access/call.ts';
import { linkToBytes } from '../artifacts/bytes.ts';
import { largestArtifact } from '../artifacts/largest.ts';
import { artifactTooLarge } from '../artifacts/rules.ts';
import { type Announced, addArtifact, artifactBytes, findArtifact } from '../artifacts/store.ts';
import { badRequest, forbidden, notFound } from '../errors.ts';
import { Answer } from '../http/endpoint.ts';
import { disposition } from '../http/range.ts';
import { receiveFile } from '../http/upload.ts';
import { hashJobToken } from '../jobs/token.ts';
import { allDependenciesOf } from '../pipelines/cross_dependencies.ts';
import { jobConfigOf } from '../pipelines/store.ts';
import { type SignedJob, signInAnyJob, signInJob } from './sign_in.ts';

export type Sent = {
  artifact_type?: string | undefined;
  artifact_format?: string | undefined;
  expire_in?: string | undefined;
};

const formats: Record<string, Announced['file_format']> = { zip: 'zip', gzip: 'gzip', raw: 'raw' };

const isType = /^[a-z][a-z0-9_]{0,63}$/;

/** As runners of today say it; those of old sent archives alone, and said nothing. */
const announced = ({ artifact_type = 'archive', artifact_format = 'zip', expire_in }: Sent) => {
  const file_format = formats[artifact_format];
  if (!isType.test(artifact_type)) throw badRequest('artifact_type is invalid');
  if (file_format === undefined) throw badRequest('artifact_format is invalid');
  return { file_type: artifact_type, file_format, expire_in: expire_in ?? null };
};

/** The last part of its path, whatever it says. */
const nameOf = (name: string): string => {
  const last = name.split(/[/\\]/).at(-1)?.replaceAll('\0', '').slice(0, 255) ?? '';
  return last === '' ? 'artifacts.zip' : last;
};

export const uploadArtifact = async (call: Call, id: number, sent: Sent & { token?: string | undefined }) => {
  const { job, token } = await signInJob(call, id, sent.token);
  const of = { id: job.id, project_id: job.project_id, token_hash: hashJobToken(token) };
  const kind = announced(sent);
  await receiveFile(call.incoming, {
    field: 'file',
    limit: await largestArtifact(call.platform, job.project_id),
    tooLarge: artifactTooLarge,
    take: async ({ name, content }) =>
      await addArtifact(call.platform, of, { ...kind, filename: nameOf(name) }, content),
  });
  return new Answer('201', { status: 201, headers: { 'content-type': 'application/json' } });
};

/** A job reads its own, and of those before it what it depends on. */
const mayRead = async (call: Call, { job }: SignedJob, id: number): Promise<boolean> => {
  if (job.id === id) return true;
  const all = await allDependenciesOf(call.platform, job, await jobConfigOf(call.db, job));
  return all.some((one) => one.id === id);
};

export type Wanted = { id: number; token?: string | undefined; direct_download?: string | undefined };

export const downloadArtifact = async (
  call: Call,
  { id, token, direct_download }: Wanted,
): Promise<Answer> => {
  const signed = await signInAnyJob(call, token);
  if (!(await mayRead(call, signed, id))) throw forbidden();
  const artifact = await findArtifact(call.db, id, { now: call.now });
  if (artifact === null) throw notFound();
  if (direct_download === 'true') {
    const location = await linkToBytes(call.platform, artifact, artifact.filename);
    if (location !== null) return new Answer(null, { status: 302, headers: { location } });
  }
  const bytes = await artifactBytes(call.platform, artifact);
  if (bytes === null) throw notFound();
  return new Answer(bytes, {
    headers: {
      'content-type': 'application/octet-stream',
      'content-disposition': disposition('attachment', artifact.filename),
      'content-transfer-encoding': 'binary',
      'content-length': String(artifact.size),
    },
  });
};
