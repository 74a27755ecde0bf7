package registry
import ("testing";"time")
func TestProf(t *testing.T){
 t0:=time.Now(); db,_:=populated(t,20000); t.Log("populate",time.Since(t0))
 for _,f:=range []Filter{{},{All:true},{All: true, Offset: 9000},{All:true,After:"s5000"},{Provider:"codex"},{All:true,Provider:"none"},{Cwd:"/src/p3"},{Search:"login"},{All:true,Search:"login bug"},{Provider:"codex",Search:"login bug"},{All:true,Search:"session 7777"},{All:true,Search:"zebra crossing"},{All: true, Search: "login bug parser refactor session terminal"},{All:true,Search:"qz"},{All: true, Provider: "none", Search: "login"}} {
  f.Limit=100
  best:=time.Hour; n:=0
  for range 5 {t0=time.Now(); p,err:=db.List(t.Context(),f); if err!=nil{t.Fatal(err)}; n=len(p.Entries); best=min(best,time.Since(t0))}
  q:=time.Now(); pc:=pieces(fold(f.Search)); r:=false; if pc!=""{r,_=db.rare(t.Context(),pc)}; 
  t.Logf("%+v: %d %v (rare %v %v)",f,n,best,r,time.Since(q))
 }
}
