/** µs of CPU a bare `node:http` server takes for a small answer on the machine that the goals were set on. */
export const referenceFloor = 12;

/** Upper limits of the figures. One project has 100,000 issues unless the name says otherwise. */
const goals = {
  /** µs of CPU a request, at 32 connections. */
  list20: { goal: 400, aim: 100 },
  list100: { goal: 1400, aim: 300 },
  get: { goal: 165, aim: 80 },
  create: { goal: 700, aim: 250 },
  edit: { goal: 700, aim: 250 },
  filtered: { goal: 2000 },
  /** A page of 20 labels of that project. */
  labels20: { goal: 1000 },
  /** The same of 100,000 merge requests; the last two are of one version of 50 files and 20 commits. */
  requestList: { goal: 450 },
  requestGet: { goal: 165 },
  requestChanges: { goal: 1000 },
  requestCommits: { goal: 1000 },
  /** Times the CPU of a bare answer, one request after another; the last three in ms, ms and times plain git. */
  pathVersion: { goal: 2.5 },
  pathUser: { goal: 3 },
  pathList20: { goal: 3 },
  pathList100: { goal: 4 },
  pathFilter: { goal: 3.5 },
  pathIssue: { goal: 3 },
  pathCreate: { goal: 9 },
  pathEdit: { goal: 9 },
  pathComment: { goal: 9 },
  pathMergeRequests: { goal: 4 },
  pathMergeRequest: { goal: 5 },
  pathChanges: { goal: 4 },
  pathTree: { goal: 6 },
  pathRaw: { goal: 6 },
  pathCommits: { goal: 8 },
  pathBranches20: { goal: 8 },
  pathBranches100: { goal: 12 },
  pathCompare: { goal: 12 },
  pathLabels: { goal: 4 },
  pathProjects: { goal: 5 },
  pathAssigned: { goal: 5 },
  pathBlame: { goal: 12 },
  pathUsers: { goal: 5 },
  pathDiscussions: { goal: 5 },
  pathPush: { goal: 60 },
  pathFetch: { goal: 12 },
  pathClone: { goal: 1.15 },
  /** ms, one call after the other. */
  merge: { goal: 20 },
  requestChangesFirst: { goal: 20 },
  /** From 1,000 issues. */
  growth: { goal: 1.25 },
  /** ms until a total that is not cached is there, at the largest size. */
  firstTotal: { goal: 60 },
  lastPage: { goal: 25 },
  /** ms from the answer of a commit to the first byte of its webhook. */
  webhookFirstByte: { goal: 30 },
  /** µs of CPU. */
  webhookDelivery: { goal: 300 },
  webhookAdded: { goal: 10 },
  search: { goal: 100 },
  /** ms until a page of matches in a million lines of code is there. */
  codeSearch: { goal: 50 },
  /** ms from the start of the process to the first answer. */
  firstStart: { goal: 400, aim: 300 },
  laterStart: { goal: 300, aim: 120 },
  /** Milliseconds per call of a repository, one call after another. */
  gitRef: { goal: 0.15 },
  gitBlob: { goal: 0.2 },
  gitCommits: { goal: 1 },
  gitFewFiles: { goal: 1 },
  gitManyFiles: { goal: 25 },
  gitMergeCheck: { goal: 10 },
  gitBranch: { goal: 1.5 },
  gitCommitFile: { goal: 12 },
  /** ms of CPU of the service and gitd a warm page. */
  pageHome: { goal: 2 },
  pageFile: { goal: 1 },
  pageCommits: { goal: 1.5 },
  pageDashboard: { goal: 1.5 },
  pageBoard: { goal: 3 },
  /** 20 of 100,000 issues; an issue of 50 comments; the overview of a merge request; 50 changed files. */
  pageIssues: { goal: 1.5 },
  pageIssue: { goal: 2 },
  pageRequest: { goal: 2 },
  pageChanges: { goal: 5 },
  /** ms until the first byte of a diff of 5,000 lines. */
  pageLongDiff: { goal: 30 },
  /** ms until the first file of a diff of 5,000 lines in 50 files. */
  pageFirstFile: { goal: 100 },
  /** ms of CPU of the whole of the diff of 5,000 lines in one file. */
  pageWholeLongDiff: { goal: 60 },
  /** ms until the first byte of a folder of 10,000 entries. */
  pageFolder: { goal: 100 },
  /** ms from the answer of a comment until the page of somebody else shows it. */
  commentSeen: { goal: 2000 },
  /** Git over HTTP, in ms; clones from the cache and at once in ms of CPU. */
  pushOne: { goal: 60 },
  infoRefs: { goal: 1 },
  cachedClone: { goal: 5 },
  manyClones: { goal: 1500 },
  eventLoop: { goal: 5 },
  /** CI, in ms; a job to a runner and a piece of a log in µs of the clock, many at once. */
  ciPush: { goal: 120 },
  ciPushLate: { goal: 300 },
  ciPipeline: { goal: 40 },
  ciArrival: { goal: 2 },
  ciArrivalLate: { goal: 20 },
  ciDispatch: { goal: 333 },
  ciDispatchPostgres: { goal: 667 },
  ciDeepQueue: { goal: 2 },
  ciTrace: { goal: 125 },
  ciArtifact: { goal: 450 },
  ciOneFile: { goal: 30 },
  ciZip: { goal: 1500 },
  ciLint: { goal: 30 },
  /** Includes the 400 ms that processes get to end, and the second between two polls of a runner. */
  ciCancel: { goal: 1400 },
  ciLine: { goal: 250 },
  ciSandbox: { goal: 150 },
  /** Statements per second. */
  ciIdleStatements: { goal: 1 },
  /** MB resident. */
  memoryWaitingRunners: { goal: 60 },
  memoryArtifact: { goal: 16 },
  memoryLargePush: { goal: 200 },
  memoryGitd: { goal: 200 },
  memoryAtRest: { goal: 100, aim: 70 },
  memorySplitAtRest: { goal: 110 },
  memorySplitAfterLoad: { goal: 160 },
  memoryAfterLoad: { goal: 180, aim: 120 },
} as const;

export type Goals = { [name in keyof typeof goals]: { goal: number; aim?: number } };

/** Returns whether a goal is a time, which depends on the speed of the machine; memory, ratios and counts do not. */
const isTime = (name: string): boolean =>
  !/^memory|^growth$|^ciIdleStatements$|^path(?!Push|Fetch)/.test(name);

/**
 * Returns the goals for this machine: those of times are multiplied by its pace.
 * @param pace time of the bare server here, divided by its time on the machine of the goals; below 1 it counts as 1
 */
export const goalsAt = (pace: number): Goals => {
  const scaled = Object.entries(goals).map(([name, wish]: [string, { goal: number; aim?: number }]) => {
    const factor = isTime(name) ? Math.max(1, pace) : 1;
    return [name, { goal: wish.goal * factor, ...(wish.aim !== undefined && { aim: wish.aim * factor }) }];
  });
  return Object.fromEntries(scaled) as Goals;
};
