/** Uploads artifacts of a job, and downloads artifacts it depends on. */
import type { Call } from '../../core/access/call.ts';
import { linkToBlob } from '../artifacts/store/artifact_blobs.ts';
import { getArtifactSizeLimit } from '../artifacts/store/size_limit.ts';
import { artifactTooLarge } from '../artifacts/rules.ts';
import {
  type ArtifactMetadata,
  addArtifact,
  openArtifact,
  findArtifact,
} from '../artifacts/store/artifacts.ts';
import { badRequest, forbidden, notFound } from '../../platform/errors.ts';
import { Answer } from '../../platform/http/endpoint.ts';
import { formatDisposition } from '../../platform/http/range.ts';
import { receiveFile } from '../../platform/http/body/upload.ts';
import { hashJobToken } from '../jobs/token.ts';
import { loadAllDependencies } from '../pipelines/predefined_variables/cross_dependencies.ts';
import { loadJobConfig } from '../pipelines/pipeline_rows.ts';
import { type AuthenticatedJob, authenticateAnyJob, authenticateJob } from './authenticate_job.ts';

export type UploadParams = {
  artifact_type?: string | undefined;
  artifact_format?: string | undefined;
  expire_in?: string | undefined;
};

const formats: Record<string, ArtifactMetadata['file_format']> = { zip: 'zip', gzip: 'gzip', raw: 'raw' };

const isType = /^[a-z][a-z0-9_]{0,63}$/;

/** Reads the metadata of an upload. Old runners send archives only, without metadata. */
const readMetadata = ({ artifact_type = 'archive', artifact_format = 'zip', expire_in }: UploadParams) => {
  const file_format = formats[artifact_format];
  if (!isType.test(artifact_type)) throw badRequest('artifact_type is invalid');
  if (file_format === undefined) throw badRequest('artifact_format is invalid');
  return { file_type: artifact_type, file_format, expire_in: expire_in ?? null };
};

/** Returns the last segment of the file name's path. */
const getBaseName = (name: string): string => {
  const last = name.split(/[/\\]/).at(-1)?.replaceAll('\0', '').slice(0, 255) ?? '';
  return last === '' ? 'artifacts.zip' : last;
};

export const uploadArtifact = async (
  call: Call,
  id: number,
  sent: UploadParams & { token?: string | undefined },
) => {
  const { job, token } = await authenticateJob(call, id, sent.token);
  const jobKey = { id: job.id, project_id: job.project_id, token_hash: hashJobToken(token) };
  const kind = readMetadata(sent);
  await receiveFile(call.incoming, {
    field: 'file',
    limit: await getArtifactSizeLimit(call.platform, job.project_id),
    tooLarge: artifactTooLarge,
    take: async ({ name, content }) =>
      await addArtifact(call.platform, jobKey, { ...kind, filename: getBaseName(name) }, content),
  });
  return new Answer('201', { status: 201, headers: { 'content-type': 'application/json' } });
};

/** A job may read its own artifacts and artifacts it depends on. */
const canRead = async (call: Call, { job }: AuthenticatedJob, id: number): Promise<boolean> => {
  if (job.id === id) return true;
  const dependencies = await loadAllDependencies(call.platform, job, await loadJobConfig(call.db, job));
  return dependencies.some((one) => one.id === id);
};

export type DownloadRequest = {
  id: number;
  token?: string | undefined;
  direct_download?: string | undefined;
};

export const downloadArtifact = async (
  call: Call,
  { id, token, direct_download }: DownloadRequest,
): Promise<Answer> => {
  const signed = await authenticateAnyJob(call, token);
  if (!(await canRead(call, signed, id))) throw forbidden();
  const artifact = await findArtifact(call.db, id, { now: call.now });
  if (artifact === null) throw notFound();
  if (direct_download === 'true') {
    const location = await linkToBlob(call.platform, artifact, artifact.filename);
    if (location !== null) return new Answer(null, { status: 302, headers: { location } });
  }
  const bytes = await openArtifact(call.platform, artifact);
  if (bytes === null) throw notFound();
  return new Answer(bytes, {
    headers: {
      'content-type': 'application/octet-stream',
      'content-disposition': formatDisposition('attachment', artifact.filename),
      'content-transfer-encoding': 'binary',
      'content-length': String(artifact.size),
    },
  });
};
