/** The protocol of runners. What runs it is loaded when the first runner comes. */
import { type Call, endpoint } from '../access/call.ts';
import { Answer, type AnyEndpoint } from '../http/endpoint.ts';
import { object } from '../http/schema.ts';
import {
  downloadParams,
  jobParams,
  requestParams,
  traceParams,
  updateParams,
  uploadParams,
} from './params.ts';

/** Loaded once, when it is first needed: to ask the loader each time takes longer than a look at the database. */
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

const request = late(async () => await import('./request.ts'));
const update = late(async () => await import('./update.ts'));
const trace = late(async () => await import('./trace.ts'));
const artifacts = late(async () => await import('./artifacts.ts'));

/** Bytes of a request for a job. */
const largestRequest = 32 * 1024;

const common = { area: 'runners', audience: 'anyone', reply: null, refusals: [403] } as const;

const noRouter = { message: 'Job Router is not available. Please contact your administrator.' };

export const runnerApiRoutes: AnyEndpoint<Call>[] = [
  endpoint({
    ...common,
    method: 'POST',
    path: '/jobs/request',
    summary: 'A runner asks for a job',
    params: requestParams,
    largest: largestRequest,
    handle: async (call, params) => await (await request()).requestJob(call, params),
  }),
  endpoint({
    ...common,
    method: 'PUT',
    path: '/jobs/:id',
    summary: 'A runner tells how its job is',
    params: updateParams,
    body: 'stream',
    handle: async (call, { id }) => await (await update()).updateJob(call, id),
  }),
  endpoint({
    ...common,
    method: 'PATCH',
    path: '/jobs/:id/trace',
    summary: 'A runner appends to the log of its job',
    params: traceParams,
    body: 'stream',
    status: 202,
    handle: async (call, params) => await (await trace()).appendTrace(call, params),
  }),
  endpoint({
    ...common,
    method: 'POST',
    path: '/jobs/:id/artifacts',
    summary: 'A runner uploads what its job leaves behind',
    params: uploadParams,
    body: 'stream',
    handle: async (call, { id, ...sent }) => await (await artifacts()).uploadArtifact(call, id, sent),
  }),
  endpoint({
    ...common,
    method: 'POST',
    path: '/jobs/:id/artifacts/authorize',
    summary: 'Whether artifacts may be uploaded: for old programs, any may be tried',
    params: jobParams,
    status: 200,
    handle: async () => await Promise.resolve(new Answer({}, { status: 200 })),
  }),
  endpoint({
    ...common,
    method: 'GET',
    path: '/jobs/:id/artifacts',
    summary: 'A job reads the artifacts of another that it depends on',
    params: downloadParams,
    content: '*/*',
    handle: async (call, params) => await (await artifacts()).downloadArtifact(call, params),
  }),
  endpoint({
    ...common,
    method: 'GET',
    path: '/runners/router/discovery',
    summary: 'Where runners ask another service for jobs: there is none',
    params: object({}),
    status: 501,
    handle: async () => await Promise.resolve(new Answer(noRouter, { status: 501 })),
  }),
];
