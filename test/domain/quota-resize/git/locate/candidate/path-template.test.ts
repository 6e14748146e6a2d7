import { describe, expect, it } from 'vitest';
import {
  defaultPathTemplate,
  GitPathError,
  namesNamespace,
  parsePathTemplate,
  renderPath,
} from '../../../../../../domain/quota-resize/git/locate/candidate/path-template.ts';

const fields = { cluster: 'prod', namespace: 'team-a', quota: 'compute' };

function path(template: string): string {
  return renderPath(parsePathTemplate(template), fields);
}

describe('path templates', () => {
  it('fill in the cluster, the namespace and the quota', () => {
    expect(path(defaultPathTemplate)).toBe('managed-resources/prod/team-a');
    expect(path('{{.Cluster}}-x/{{  .Namespace  }}/{{ .Quota }}.yaml')).toBe('prod-x/team-a/compute.yaml');
    expect(path('{{ .Namespace }}{{ .Namespace }}')).toBe('team-ateam-a');
  });

  it('a text without fields is a literal path', () => {
    expect(path('teams/a/quota.yaml')).toBe('teams/a/quota.yaml');
  });

  it('become relative to the root of the repository, with single slashes', () => {
    expect(path('/clusters//{{ .Namespace }}/./')).toBe('clusters/team-a');
    expect(path(' ./clusters ')).toBe('clusters');
    expect(path('.')).toBe('');
  });

  it('survive JSON', () => {
    const template = parsePathTemplate(defaultPathTemplate);
    expect(JSON.parse(JSON.stringify(template))).toEqual(template);
  });

  it.each([
    [
      'a/{{ .Name }}',
      'the path template "a/{{ .Name }}" has {{ .Name }}, which is unknown; the fields are {{ .Cluster }}, {{ .Namespace }} and {{ .Quota }}',
    ],
    ['a/{{ .cluster }}', 'which is unknown'],
    ['a/{{ .Cluster | lower }}', 'which is unknown'],
    ['a/{{}}', 'which is unknown'],
    ['a/{{ .Cluster', 'unbalanced braces'],
    ['a/{{ .Cluster }', 'unbalanced braces'],
    ['a/.Cluster }}', 'unbalanced braces'],
    ['a/{{ .Cluster {{ .Namespace }}', 'which is unknown'],
    ['', 'empty'],
    ['  ', 'empty'],
    ['../{{ .Cluster }}', 'leaves the repository'],
    ['a/../b', 'leaves the repository'],
    ['a\\b', 'part folders with "/"'],
  ])('%j is rejected, with what is wrong', (template, message) => {
    expect(() => parsePathTemplate(template)).toThrow(GitPathError);
    expect(() => parsePathTemplate(template)).toThrow(message);
  });

  it('a value that leads out of the repository is rejected', () => {
    const template = parsePathTemplate(defaultPathTemplate);
    expect(() => renderPath(template, { ...fields, cluster: '../other' })).toThrow(GitPathError);
    expect(() => renderPath(template, { ...fields, namespace: '..' })).toThrow(GitPathError);
    expect(renderPath(template, { ...fields, namespace: 'a..b' })).toBe('managed-resources/prod/a..b');
  });

  it('know whether the path is one namespace’s own', () => {
    expect(namesNamespace(parsePathTemplate(defaultPathTemplate))).toBe(true);
    expect(namesNamespace(parsePathTemplate('clusters/{{ .Cluster }}/quotas.yaml'))).toBe(false);
  });
});
