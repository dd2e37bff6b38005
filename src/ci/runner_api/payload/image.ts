/** Formats images and services for runners. Pure. */
import type { Image, Service, Variable } from '../../ci_file/config_types.ts';

export type PayloadImage = {
  name: string;
  entrypoint: string[] | null;
  pull_policy: string[];
  ports: never[];
  executor_opts?: { docker: object };
};

export const toPayloadImage = ({ name, entrypoint, pull_policy, docker }: Image): PayloadImage => ({
  name,
  entrypoint,
  pull_policy,
  ports: [],
  ...(docker !== null && { executor_opts: { docker } }),
});

export type PayloadService = PayloadImage & {
  alias: string | null;
  command: string[] | null;
  variables: object[];
};

const toVariable = ({ key, value, raw }: Variable): object => ({
  key,
  value,
  public: true,
  file: false,
  masked: false,
  raw,
});

export const toPayloadService = (service: Service): PayloadService => ({
  ...toPayloadImage(service),
  alias: service.alias,
  command: service.command,
  variables: service.variables.map(toVariable),
});
