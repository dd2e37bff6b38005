/** Parameters of the requests that runners send. */
import { id, integer, object, optional, raw, text } from '../../platform/http/schema.ts';

const runnerToken = optional(text({ description: 'runner token; alternatively the header RUNNER-TOKEN' }));
const jobToken = optional(text({ description: 'job token; alternatively the header JOB-TOKEN' }));
const info = optional(raw('runner name, version, executor, features'));

export const requestParams = object({
  token: runnerToken,
  system_id: optional(text({ description: 'name of the machine' })),
  last_update: optional(text({ description: 'the last `X-GitLab-Last-Update`; allows long polling' })),
  info,
  session: optional(raw('session URL of the job; unused')),
});

export const updateParams = object({
  id: id(),
  token: jobToken,
  state: optional(text({ description: '`running`, `success` or `failed`' })),
  failure_reason: optional(text()),
  exit_code: optional(integer()),
  checksum: optional(text({ description: '`crc32:` and eight digits' })),
  output: optional(raw('`checksum` and `bytesize` of the whole log')),
  trace: optional(raw('the whole log, as sent by old releases')),
  info,
});

export const jobParams = object({ id: id(), token: jobToken });

export const traceParams = object({
  id: id(),
  token: jobToken,
  debug_trace: optional(text({ description: '`true`: the log shows the values of variables' })),
});

export const uploadParams = object({
  id: id(),
  token: jobToken,
  artifact_type: optional(text({ description: '`archive` or a report type' })),
  artifact_format: optional(text({ description: '`zip`, `gzip` or `raw`' })),
  expire_in: optional(text({ description: 'as in the configuration, for example `1 week`' })),
});

export const downloadParams = object({
  id: id('token of the job that created the artifacts'),
  token: jobToken,
  direct_download: optional(
    text({
      description: '`true`: a redirect to the object store is accepted',
    }),
  ),
});
