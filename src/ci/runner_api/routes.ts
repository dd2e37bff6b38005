/** Endpoints of the runner protocol. Their code is loaded with the first request of a runner. */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { Answer, type AnyEndpoint } from '../../platform/http/endpoint.ts';
import { object } from '../../platform/http/schema.ts';
import {
  downloadParams,
  jobParams,
  requestParams,
  traceParams,
  updateParams,
  uploadParams,
} from './params.ts';

/** Memoizes a dynamic import: asking the module loader each time costs more than a query. */
const late = <T>(load: () => Promise<T>): (() => Promise<T>) => {
  let loading: Promise<T> | undefined;
  return async () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return await loading;
  };
};

const request = late(async () => await import('./queue/request_job.ts'));
const update = late(async () => await import('./update_job.ts'));
const trace = late(async () => await import('./append_trace.ts'));
const artifacts = late(async () => await import('./transfer_artifacts.ts'));

/** Largest body of a job request, in bytes. */
const maxRequestBytes = 32 * 1024;

const shared = { area: 'runners', audience: 'anyone', reply: null, refusals: [403] } as const;

const noRouter = { message: 'Job Router is not available. Please contact your administrator.' };

export const runnerApiRoutes: AnyEndpoint<Call>[] = [
  endpoint({
    ...shared,
    method: 'POST',
    path: '/jobs/request',
    summary: 'Request a job (runners)',
    params: requestParams,
    maxRequestBytes,
    handle: async (call, params) => await (await request()).requestJob(call, params),
  }),
  endpoint({
    ...shared,
    method: 'PUT',
    path: '/jobs/:id',
    summary: 'Update the status of a job (runners)',
    params: updateParams,
    body: 'stream',
    handle: async (call, { id }) => await (await update()).updateJob(call, id),
  }),
  endpoint({
    ...shared,
    method: 'PATCH',
    path: '/jobs/:id/trace',
    summary: 'Append to the trace of a job (runners)',
    params: traceParams,
    body: 'stream',
    status: 202,
    handle: async (call, params) => await (await trace()).appendTrace(call, params),
  }),
  endpoint({
    ...shared,
    method: 'POST',
    path: '/jobs/:id/artifacts',
    summary: 'Upload artifacts of a job (runners)',
    params: uploadParams,
    body: 'stream',
    handle: async (call, { id, ...sent }) => await (await artifacts()).uploadArtifact(call, id, sent),
  }),
  endpoint({
    ...shared,
    method: 'POST',
    path: '/jobs/:id/artifacts/authorize',
    summary: 'Authorize an artifacts upload of old runners (always granted)',
    params: jobParams,
    status: 200,
    handle: async () => await Promise.resolve(new Answer({}, { status: 200 })),
  }),
  endpoint({
    ...shared,
    method: 'GET',
    path: '/jobs/:id/artifacts',
    summary: 'Download the artifacts of a job (runners)',
    params: downloadParams,
    content: '*/*',
    handle: async (call, params) => await (await artifacts()).downloadArtifact(call, params),
  }),
  endpoint({
    ...shared,
    method: 'GET',
    path: '/runners/router/discovery',
    summary: 'Discover another job service (always empty)',
    params: object({}),
    status: 501,
    handle: async () => await Promise.resolve(new Answer(noRouter, { status: 501 })),
  }),
];
