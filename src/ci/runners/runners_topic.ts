/**
 * Topic broadcast when the jobs that a runner may take have changed; subscribers invalidate their caches of runners.
 */
export const runnersTopic = 'ci_runners';
