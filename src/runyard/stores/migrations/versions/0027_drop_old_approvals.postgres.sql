-- Servers of versions before 0015 read this view while they were replaced.
drop view approvals;
