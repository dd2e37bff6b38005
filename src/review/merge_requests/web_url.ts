export const mergeRequestUrl = (baseUrl: string, projectPath: string, iid: number): string =>
  `${baseUrl}/${projectPath}/merge_requests/${iid}`;
