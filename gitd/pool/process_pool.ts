/**
 * Keeps a few processes per repository: started on demand, ended when idle, replaced when they die. A worker serves
 * several requests at once (`shares`) if its protocol lets them queue.
 */
import type { GitProcess } from '../exec/spawn.ts';
import { noRepository } from '../git_error.ts';
import { repositoryExists } from '../disk/repository_paths.ts';

/** The process ended in the middle of a request. */
export class ProcessDied extends Error {}

export type Worker = { process: GitProcess };

export type KeepOptions<W extends Worker> = {
  /** Starts a worker for an existing repository. */
  open: (dir: string) => Promise<W>;
  /** Most requests at once per worker. */
  shares: number;
  /** Most workers per repository. */
  each: number;
  /** Workers of all repositories from which on an idle one ends before another starts. */
  most: number;
  idleSeconds: number;
};

type Place<W> = {
  dir: string;
  worker: Promise<W>;
  /** null until the worker has started. */
  process: GitProcess | null;
  uses: number;
  idleSince: number;
};
type Room<W> = { places: Set<Place<W>>; waiting: (() => void)[] };

const startFor = async <W extends Worker>(dir: string, open: KeepOptions<W>['open']): Promise<W> => {
  if (!(await repositoryExists(dir))) throw noRepository();
  return await open(dir);
};

/** Milliseconds between searches for idle workers. */
const sweepEvery = 5_000;

export class Keep<W extends Worker> {
  readonly #options: KeepOptions<W>;
  /** In order of last use. */
  readonly #rooms = new Map<string, Room<W>>();
  readonly #sweep: NodeJS.Timeout;
  #total = 0;

  constructor(options: KeepOptions<W>) {
    this.#options = options;
    this.#sweep = setInterval(() => {
      const since = performance.now() - options.idleSeconds * 1000;
      this.#endIdle(({ idleSince }) => idleSince < since);
    }, sweepEvery).unref();
  }

  /**
   * Runs `work` with a worker. If its process dies and `again` is true, runs `work` again with another worker.
   * @throws GitError `no_repository`
   */
  async use<T>(dir: string, work: (worker: W) => Promise<T>, again = false): Promise<T> {
    // Each failed try removes a dead worker, so after `each` retries a live one is found.
    for (let tries = again ? this.#options.each : 0; ; tries -= 1) {
      try {
        return await this.#lend(dir, work);
      } catch (error) {
        if (tries === 0 || !(error instanceof ProcessDied)) throw error;
      }
    }
  }

  /** Ends the workers of one repository. */
  async forget(dir: string): Promise<void> {
    const room = this.#rooms.get(dir);
    if (room !== undefined) await this.#endAll([room]);
  }

  async stop(): Promise<void> {
    clearInterval(this.#sweep);
    await this.#endAll([...this.#rooms.values()]);
  }

  async #lend<T>(dir: string, work: (worker: W) => Promise<T>): Promise<T> {
    const place = await this.#take(dir);
    try {
      return await work(await place.worker);
    } catch (error) {
      const room = this.#rooms.get(dir);
      if (error instanceof ProcessDied && room !== undefined) this.#remove(room, place);
      throw error;
    } finally {
      place.uses -= 1;
      place.idleSince = performance.now();
      this.#rooms.get(dir)?.waiting.shift()?.();
    }
  }

  /** Acquires the least busy worker, a new one, or the next to become free. */
  async #take(dir: string): Promise<Place<W>> {
    const { shares, each } = this.#options;
    const room = this.#roomOf(dir);
    // A killed worker takes no more requests.
    for (const place of room.places) if (place.process?.isKilled() === true) this.#remove(room, place);
    const [best] = [...room.places].toSorted((a, b) => a.uses - b.uses);
    const isFree = best !== undefined && best.uses < shares;
    if (isFree || room.places.size < each) {
      const place = isFree ? best : this.#add(room, dir);
      place.uses += 1;
      return place;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    room.waiting.push(resolve);
    await promise;
    return await this.#take(dir);
  }

  #roomOf(dir: string): Room<W> {
    const room = this.#rooms.get(dir) ?? { places: new Set(), waiting: [] };
    this.#rooms.delete(dir);
    this.#rooms.set(dir, room);
    return room;
  }

  #add(room: Room<W>, dir: string): Place<W> {
    const { most, open } = this.#options;
    if (this.#total >= most) this.#endIdle(() => this.#total >= most);
    const place: Place<W> = { dir, worker: startFor(dir, open), process: null, uses: 0, idleSince: 0 };
    room.places.add(place);
    this.#total += 1;
    const gone = (): void => this.#remove(room, place);
    place.worker.then(({ process }) => {
      place.process = process;
      process.ended.then(gone, gone);
    }, gone);
    return place;
  }

  #remove(room: Room<W>, place: Place<W>): void {
    if (!room.places.delete(place)) return;
    this.#total -= 1;
    room.waiting.shift()?.();
    const isEmpty = room.places.size === 0 && room.waiting.length === 0;
    if (isEmpty && this.#rooms.get(place.dir) === room) this.#rooms.delete(place.dir);
  }

  #endIdle(isEnough: (place: Place<W>) => boolean): void {
    for (const room of this.#rooms.values()) {
      for (const place of room.places) if (place.uses === 0 && isEnough(place)) void this.#end(room, place);
    }
  }

  async #end(room: Room<W>, place: Place<W>): Promise<void> {
    this.#remove(room, place);
    const kept = await place.worker.catch(() => null);
    if (kept === null) return;
    kept.process.kill();
    await kept.process.ended.catch(() => undefined);
  }

  async #endAll(rooms: Room<W>[]): Promise<void> {
    const all = rooms.flatMap((room) => [...room.places].map(async (place) => await this.#end(room, place)));
    await Promise.all(all);
  }
}
