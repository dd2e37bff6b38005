/** Returns the queue key that serializes work reading a project's configuration, so that pipelines keep their order. */
export const configMutexKey = (project_id: number): string => `pipelines:${project_id}`;
