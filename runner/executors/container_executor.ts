/** Runs scripts in a container of the job's image, by podman or docker. */
import { expandVariables } from '../job_variables.ts';
import {
  type ContainerParts,
  type PreparedContainer,
  commonArguments,
  runContainer,
  seen,
} from './run_container.ts';
import { type Engine, runEngine, labelName, removeAll } from './container_engine.ts';
import type { Executor, Session, Setting } from './executor.ts';
import {
  type LocalImage,
  pullImage,
  makeEngineFolder,
  removeEngineFolder,
  writeLogins,
} from './pull_images.ts';
import { readServiceLogs, startService, waitForServices } from './start_services.ts';

const makeNetwork = async ({ engine }: ContainerParts, { mark }: Setting): Promise<string> => {
  const name = `gantry-${mark}`;
  const { code, complaint } = await runEngine(engine, [
    'network',
    'create',
    '--label',
    `${labelName}=${mark}`,
    name,
  ]);
  if (code === 0) return name;
  throw new Error(`could not create the job's network: ${complaint}`);
};

/** Pulls the images, starts the services, and waits for them. */
const makeAll = async (parts: ContainerParts, made: PreparedContainer, names: string[]): Promise<void> => {
  const { engine, limits, pullPolicies: policies } = parts;
  const { setting, image } = made;
  const { say, job, mark } = setting;
  makeEngineFolder(setting);
  const logins = writeLogins(engine, setting);
  const images = { engine, policies, setting };
  const requested = job.services ?? [];
  if (requested.length > 0) made.network = await makeNetwork(parts, setting);
  const shared = { engine, setting, network: made.network ?? '', common: commonArguments(limits) };
  for (const [index, service] of requested.entries()) {
    say(`Starting service ${expandVariables(service.name, setting.values)} ...`);
    const image = await pullImage(images, service, logins);
    const container = `gantry-${mark}-service-${index}`;
    names.push(container);
    const about = { image, container, before: made.services };
    made.services.push(await startService(shared, service, about));
  }
  if (made.services.length > 0) await waitForServices(shared, made.services);
  made.localImage = await pullImage(images, image, logins);
};

const tellServices = async (engine: Engine, { services, setting }: PreparedContainer): Promise<void> => {
  const logs = await Promise.all(
    services.map(async (one) => [one, await readServiceLogs(engine, one)] as const),
  );
  for (const [{ image }, text] of logs) setting.say(`[service:${image.name}]\n${text}`);
};

const begin = async (parts: ContainerParts, setting: Setting): Promise<Session> => {
  const { engine } = parts;
  const image = setting.job.image ?? { name: '' };
  const placeholder: LocalImage = { name: '', id: '', user: '', ports: [], hasHealthCheck: false };
  const made: PreparedContainer = { setting, image, localImage: placeholder, network: null, services: [] };
  const names: string[] = [];
  const end = async (): Promise<void> => {
    if (setting.values.get('CI_DEBUG_SERVICES') === 'true') await tellServices(engine, made);
    await removeAll(engine, names, made.network);
    removeEngineFolder(setting);
  };
  const onStop = (): void => {
    if (setting.stop.reason === 'abort') void removeAll(engine, names, null);
  };
  setting.stop.addEventListener('abort', onStop, { once: true });
  setting.say(`Using ${engine.name} executor with image ${expandVariables(image.name, setting.values)} ...`);
  try {
    await makeAll(parts, made, names);
  } catch (error) {
    await end();
    throw error;
  }
  return { run: async (run) => await runContainer(parts, made, run), end };
};

export const containerExecutor = (parts: ContainerParts): Executor => ({
  name: 'container',
  notice: `Runs in a container of ${parts.engine.name}.`,
  builds: 'container-builds',
  seen,
  begin: async (setting) => await begin(parts, setting),
});
