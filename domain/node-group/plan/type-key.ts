/** The key of an instance type of a group: `<group> <instance type>`. */
export function typeKey(group: string, instanceType: string): string {
  return `${group} ${instanceType}`;
}
