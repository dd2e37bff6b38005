/** Starts moves of repositories for an administrator. */
import { type Call, requireActor } from '../../../core/access/call.ts';
import { invalid } from '../../../platform/errors.ts';
import type { Project } from '../../../projects/projects/find.ts';
import type { MoveRepository } from '../../../projects/projects/related/storage.ts';
import { type Destination, chooseDestination, enqueueMoveAll, scheduleMove } from './schedule_move.ts';

export const listStorageNames = ({ platform }: Pick<Call, 'platform'>): string[] =>
  platform.config.repository_storages.map(({ name }) => name);

const toDestination = (call: Call, named: string | undefined): Destination => ({
  storages: listStorageNames(call),
  named,
});

/**
 * Schedules the move of a project's repository.
 * @param named the storage; undefined: any other
 * @returns the id of the move
 * @throws Failure 400
 */
export const startMove = async (call: Call, project: Project, named: string | undefined): Promise<number> =>
  await call.write(
    async (tx) => await scheduleMove(tx, requireActor(call), project, toDestination(call, named)),
  );

/**
 * Has the moves of all repositories of a storage scheduled.
 * @throws Failure 400
 */
export const startMoveOfAll = async (
  call: Call,
  source: string,
  named: string | undefined,
): Promise<void> => {
  const destination = toDestination(call, named);
  if (!destination.storages.includes(source))
    throw invalid({ source_storage_name: ['is not included in the list'] });
  chooseDestination(source, destination);
  await call.write(async (tx) => await enqueueMoveAll(tx, source, named ?? null));
};

/** Schedules a move in the transaction of another change of the project. */
export const moveRepository: MoveRepository = async (call, tx, project, storage) =>
  void (await scheduleMove(tx, requireActor(call), project, toDestination(call, storage)));
