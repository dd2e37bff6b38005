/**
 * Keeps a few processes per repository: started on demand, ended when idle, replaced when they die. A worker serves
 * several requests at once (`maxRequestsPerWorker`) if its protocol lets them queue.
 */
import type { GitProcess } from '../exec/spawn.ts';
import { GitError, noRepository } from '../git_error.ts';
import { repositoryExists } from '../disk/storage_paths.ts';

/** The process ended in the middle of a request. */
export class ProcessDied extends Error {
  /** Killed by something other than gitd, such as the kernel's OOM killer. */
  readonly isKilled: boolean;

  constructor(message: string, isKilled = false) {
    super(message);
    this.isKilled = isKilled;
  }
}

export type Worker = { process: GitProcess };

export type ProcessPoolOptions<W extends Worker> = {
  /** Starts a worker for an existing repository. */
  open: (dir: string) => Promise<W>;
  /** Maximum concurrent requests per worker. */
  maxRequestsPerWorker: number;
  maxWorkersPerRepository: number;
  /** Maximum workers of all repositories: beyond it, idle workers end before another starts. */
  maxWorkers: number;
  idleSeconds: number;
};

type PooledWorker<W> = {
  dir: string;
  started: Promise<W>;
  /** null until the worker has started. */
  process: GitProcess | null;
  uses: number;
  idleSince: number;
};
type RepositoryWorkers<W> = { workers: Set<PooledWorker<W>>; waiting: (() => void)[] };

const startWorker = async <W extends Worker>(
  dir: string,
  open: ProcessPoolOptions<W>['open'],
): Promise<W> => {
  if (!(await repositoryExists(dir))) throw noRepository();
  return await open(dir);
};

/** Milliseconds between searches for idle workers. */
const sweepInterval = 5_000;

export class ProcessPool<W extends Worker> {
  readonly #options: ProcessPoolOptions<W>;
  /** In order of last use. */
  readonly #byRepository = new Map<string, RepositoryWorkers<W>>();
  readonly #sweepTimer: NodeJS.Timeout;
  #total = 0;

  constructor(options: ProcessPoolOptions<W>) {
    this.#options = options;
    this.#sweepTimer = setInterval(() => {
      const since = performance.now() - options.idleSeconds * 1000;
      this.#endIdleWorkers(({ idleSince }) => idleSince < since);
    }, sweepInterval).unref();
  }

  /**
   * Runs `work` with a worker. If its process dies and `mayRetry` allows it, runs `work` again with another worker.
   * @throws GitError `no_repository`
   */
  async use<T>(
    dir: string,
    work: (worker: W) => Promise<T>,
    mayRetry: () => boolean = () => true,
  ): Promise<T> {
    // Each failed try removes a dead worker, so after `maxWorkersPerRepository` retries a live one is found.
    for (let tries = this.#options.maxWorkersPerRepository; ; tries -= 1) {
      try {
        return await this.#runOnce(dir, work);
      } catch (error) {
        if (!(error instanceof ProcessDied)) throw error;
        if (tries > 0 && mayRetry()) continue;
        throw error.isKilled ? new GitError('unavailable', error.message) : error;
      }
    }
  }

  /** Ends the workers of one repository. */
  async endWorkers(dir: string): Promise<void> {
    const repository = this.#byRepository.get(dir);
    if (repository !== undefined) await this.#endAllWorkers([repository]);
  }

  async stop(): Promise<void> {
    clearInterval(this.#sweepTimer);
    await this.#endAllWorkers([...this.#byRepository.values()]);
  }

  async #runOnce<T>(dir: string, work: (worker: W) => Promise<T>): Promise<T> {
    const worker = await this.#acquireWorker(dir);
    try {
      return await work(await worker.started);
    } catch (error) {
      const repository = this.#byRepository.get(dir);
      if (error instanceof ProcessDied && repository !== undefined) this.#removeWorker(repository, worker);
      throw error;
    } finally {
      worker.uses -= 1;
      worker.idleSince = performance.now();
      this.#byRepository.get(dir)?.waiting.shift()?.();
    }
  }

  /** Acquires the least busy worker, a new one, or the next to become free. */
  async #acquireWorker(dir: string): Promise<PooledWorker<W>> {
    const { maxRequestsPerWorker, maxWorkersPerRepository } = this.#options;
    const repository = this.#getRepositoryWorkers(dir);
    // A killed worker accepts no further requests.
    for (const worker of repository.workers)
      if (worker.process?.isKilled() === true) this.#removeWorker(repository, worker);
    const [best] = [...repository.workers].toSorted((a, b) => a.uses - b.uses);
    const isFree = best !== undefined && best.uses < maxRequestsPerWorker;
    if (isFree || repository.workers.size < maxWorkersPerRepository) {
      const worker = isFree ? best : this.#addWorker(repository, dir);
      worker.uses += 1;
      return worker;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    repository.waiting.push(resolve);
    await promise;
    return await this.#acquireWorker(dir);
  }

  #getRepositoryWorkers(dir: string): RepositoryWorkers<W> {
    const repository = this.#byRepository.get(dir) ?? { workers: new Set(), waiting: [] };
    this.#byRepository.delete(dir);
    this.#byRepository.set(dir, repository);
    return repository;
  }

  #addWorker(repository: RepositoryWorkers<W>, dir: string): PooledWorker<W> {
    const { maxWorkers, open } = this.#options;
    if (this.#total >= maxWorkers) this.#endIdleWorkers(() => this.#total >= maxWorkers);
    const worker: PooledWorker<W> = {
      dir,
      started: startWorker(dir, open),
      process: null,
      uses: 0,
      idleSince: 0,
    };
    repository.workers.add(worker);
    this.#total += 1;
    const gone = (): void => this.#removeWorker(repository, worker);
    worker.started.then(({ process }) => {
      worker.process = process;
      process.ended.then(gone, gone);
    }, gone);
    return worker;
  }

  #removeWorker(repository: RepositoryWorkers<W>, worker: PooledWorker<W>): void {
    if (!repository.workers.delete(worker)) return;
    this.#total -= 1;
    repository.waiting.shift()?.();
    const isEmpty = repository.workers.size === 0 && repository.waiting.length === 0;
    if (isEmpty && this.#byRepository.get(worker.dir) === repository) this.#byRepository.delete(worker.dir);
  }

  #endIdleWorkers(isOld: (worker: PooledWorker<W>) => boolean): void {
    for (const repository of this.#byRepository.values()) {
      for (const worker of repository.workers)
        if (worker.uses === 0 && isOld(worker)) void this.#endWorker(repository, worker);
    }
  }

  async #endWorker(repository: RepositoryWorkers<W>, worker: PooledWorker<W>): Promise<void> {
    this.#removeWorker(repository, worker);
    const started = await worker.started.catch(() => null);
    if (started === null) return;
    started.process.kill();
    await started.process.ended.catch(() => undefined);
  }

  async #endAllWorkers(repositories: RepositoryWorkers<W>[]): Promise<void> {
    const ends = repositories.flatMap((repository) =>
      [...repository.workers].map(async (worker) => await this.#endWorker(repository, worker)),
    );
    await Promise.all(ends);
  }
}
