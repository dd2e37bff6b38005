/** Broadcast with each change of what a runner may take: what was kept of runners is to be read again. */
export const runnersTopic = 'ci_runners';
